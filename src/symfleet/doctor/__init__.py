"""Is this host, and is this target, fit for a campaign?"""
