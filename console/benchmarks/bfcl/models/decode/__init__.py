"""From a model's output to function calls, in every form a category may ask for. No model text is ever evaluated."""
