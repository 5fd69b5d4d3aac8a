"""The words of the house: pure, no input, no output."""
