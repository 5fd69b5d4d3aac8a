"""The nouns of the service, four files each."""
