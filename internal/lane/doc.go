// Package lane knows the files by which agent harnesses run work in lanes:
// workflows (Markdown with YAML front matter), and the records of jobs and
// campaigns. It reads them from bytes, with places, and says what is wrong with
// each by itself. It also finds the lane that fits a change, from the paths that
// it touches and from little more. It does no I/O: which files there are, it is told.
package lane
