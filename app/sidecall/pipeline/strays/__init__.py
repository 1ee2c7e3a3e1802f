"""Take up calls that nobody carries on or tells of: unheard decisions, those of a server that ended, expired ones."""
