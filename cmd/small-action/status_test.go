package main

// statusCannot is the exit status of what could not be judged.
const statusCannot = 2
