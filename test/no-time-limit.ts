/**
 * A program that is no test, but uses parts of tests, imports this file first. These parts load tap, and tap ends a
 * process after 30 s unless this variable is set before.
 */
process.env['TAP_TIMEOUT'] ??= '0'
