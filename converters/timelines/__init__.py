"""Timelines: stretches of audio, video or text as annotation tools and turn lists hold them."""
