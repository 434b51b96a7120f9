"""What a prefix cache is worth, by arithmetic that can be checked.

`understand` makes an `Ask` of what people type, `plan` a `Report` of it. Numbers are labelled
measured, derived or estimated, and stand beside what the simpler formula says. Import them from
their modules: the command's help must not wait for them.
"""
