"""What mixes positions in a layer: attention, latent attention, recurrences."""
