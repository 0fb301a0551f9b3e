"""What reports say: sections, sentences, phrases and the reach of cues."""
