"""SeeDev: events of the reference paired with those of a system."""
