/**
 * Text as uWebSockets.js may be given it. Its build for Node 22 and later writes a string whose characters all fit into
 * Latin-1 as Latin-1, and a lone surrogate as bytes that are no UTF-8. So only ASCII stays a string.
 */
export function utf8(text: string): string | Buffer {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text)
}
