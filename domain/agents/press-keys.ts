/** The tool `send_dtmf`, with which the LLM presses keys on the phone: digits are keys, and `w` is half a second of silence. */
const digitsForm = /^[0-9*#A-Dw]{1,32}$/
/** The name of its argument. */
export const digitsName = 'digits'

/** The schema of a tool that names none itself. */
export const pressKeysParameters = {
  type: 'object',
  properties: {
    digits: {
      type: 'string',
      pattern: digitsForm.source,
      description: 'The keys to press, one after another: 0 to 9, *, #, A to D. A w waits for half a second.',
    },
  },
  required: ['digits'],
} as const

/** The arguments have passed the schema of the tool, which may be any. Null: they name no keys. */
export function keysOf(args: unknown): string | null {
  const { digits } = (typeof args === 'object' && args !== null ? args : {}) as { digits?: unknown }
  return typeof digits === 'string' && digitsForm.test(digits) ? digits : null
}
