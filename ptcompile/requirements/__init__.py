"""Requirements of a job on its cluster, the objects a platform team provides, and the
capabilities of each target.
"""
