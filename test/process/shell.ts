/** Returns this process's environment without the test runner's variables, as in a person's shell. */
export function shellEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TAP')))
}
