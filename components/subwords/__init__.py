"""Subwords: counted with Beam, learned with SentencePiece."""
