"""What was asked of a model: requests as they stand in bodies, logs and exports, of any vendor.

Reading is lenient: what a vendor would refuse, and what this server can't do, is still text with a
place. It never opens a connection.
"""
