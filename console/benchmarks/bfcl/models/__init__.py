"""How each model of the registry is asked and how its replies are decoded."""
