"""Which values are secret, and how reports mask them."""
