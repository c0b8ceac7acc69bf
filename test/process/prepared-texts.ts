/** Reads the statements that a client prepares, from the bytes that it sends to Postgres. */

/** The type of the message `Parse` (Postgres documentation, "Message Formats"). */
const parseType = 'P'.charCodeAt(0)
const typeBytes = 1
const lengthBytes = 4

/**
 * Returns a function for the bytes of one connection, from its first byte on. It calls `onText` with each named
 * statement's text. The driver keeps named statements until the connection ends, and Postgres keeps them too.
 */
export function preparedTexts(onText: (text: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  // The first message has no type.
  let headBytes = 0
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= headBytes + lengthBytes) {
      const end = headBytes + rest.readUInt32BE(headBytes)
      if (rest.length < end) return
      if (headBytes === typeBytes && rest[0] === parseType) take(rest.subarray(headBytes + lengthBytes, end))
      rest = rest.subarray(end)
      headBytes = typeBytes
    }
  }

  function take(message: Buffer): void {
    const [name = '', text = ''] = message.toString().split('\0', 2)
    if (name !== '') onText(text)
  }
}
