"""Parts of the Review screen: the list of failures, expected beside actual, the other views, tags and copies."""
