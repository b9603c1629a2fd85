"""What people and other programs see of a campaign."""
