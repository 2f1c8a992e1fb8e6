"""What is found in the objects of a stream: the parts that the verb `lint` is made of."""
