/**
 * Returns a function call's arguments as JSON text. If a function has no parameters, models send `{}`, but also a blank
 * text or `null`. Servers and clients expect an object, so the result is then `{}`.
 */
export function argumentsText(text: string): string {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'null' ? '{}' : text
}
