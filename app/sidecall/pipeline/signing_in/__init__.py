"""Find with what a call acts for a person, let it wait until they have signed in, and let it go on then."""
