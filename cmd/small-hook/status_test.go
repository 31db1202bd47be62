package main

// What the tests know of the program.
const (
	statusCannot      = 2
	statusInterrupted = 130
	// progressFrom is the number of commits from which on there is a progress bar.
	progressFrom = 200
)
