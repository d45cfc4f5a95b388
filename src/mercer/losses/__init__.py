"""Losses: how bad a decision value is for a target, one per file."""
