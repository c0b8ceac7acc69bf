/**
 * Returns true if a model calls a function without arguments. Models then send `{}`, but also a blank text or `null`,
 * if the function has no parameters.
 */
export function hasNoArguments(text: string): boolean {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'null'
}
