"""What stock TF Serving needs: templates that `pairloom deploy tfserving` fills in. No code."""
