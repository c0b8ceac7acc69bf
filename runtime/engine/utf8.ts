/**
 * Returns a text in a safe form for uWebSockets.js. Its build for Node 22 and later writes a string as Latin-1 if all
 * characters fit, and a lone surrogate as invalid UTF-8. So only ASCII stays a string.
 */
export function utf8(text: string): string | Buffer {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text)
}
