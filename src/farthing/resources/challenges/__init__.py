"""Challenges: questions to a cardholder, behind a link that works once."""
