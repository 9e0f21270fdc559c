"""What `import hlteval` offers: the workflows, with arguments that are checked."""
