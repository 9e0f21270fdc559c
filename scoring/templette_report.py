"""stub"""
def mapping_rows(*a): 
    import polars as pl
    return pl.DataFrame()
