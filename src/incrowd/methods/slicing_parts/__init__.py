"""How slicing and Anatomy choose columns and buckets.

correlation, attribute_columns (medoids)      attributes → columns
buckets (bucket_dealing), anatomy_buckets     rows → buckets
"""
