// Package judge has a function for each judging command. The function opens the repository, or a directory without one, takes the policy from the trusted
// side if the command needs a policy, and calls the gate. The programs turn flags into a call, and the report into output and an exit status.
//
// The table in docs/commands.md says what each entry point judges, and by whose configuration.
package judge
