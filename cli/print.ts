/** Prints a value as JSON for programs, or as lines for people. */
export function print(json: boolean, value: unknown, lines: () => readonly string[]): void {
  console.log(json ? JSON.stringify(value, null, 2) : lines().join('\n'))
}
