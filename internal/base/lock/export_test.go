package lock

// CreateState makes a state lock on a file system without hard links.
var CreateState = createState
