// Package smalltest makes random documents and logs for tests, in every style that keeps their meaning.
package smalltest
