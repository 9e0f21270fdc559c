"""`hlteval serve`: a page on this machine where submissions are dropped and their reports are read.

Security:
    The server binds the loopback address only. Who has the token of its URL gets a session: an
    unguessable folder of URLs, and a cookie that browsers send nowhere else. Every request is held
    to the Host and Origin of the page. Uploaded files are stored under numbers; their names are
    data, judged as those of archives are. Each job is done by a process of its own, within limits,
    in a folder of its own.
"""
