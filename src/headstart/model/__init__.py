"""The model: weights, decoder, paged attention, sampling. Knows no requests and no HTTP."""
