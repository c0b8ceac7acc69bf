/** The tool `send_dtmf`: the LLM presses keys on the phone. Digits are keys, and `w` is half a second's silence. */
const digitsForm = /^[0-9*#A-Dw]{1,32}$/
/** Its argument's name. */
export const digitsName = 'digits'

/** The schema if the tool has no schema. */
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

/** The arguments have passed the tool's schema, which may be any schema. Null if they name no keys. */
export function keysOf(args: unknown): string | null {
  const { digits } = (typeof args === 'object' && args !== null ? args : {}) as { digits?: unknown }
  return typeof digits === 'string' && digitsForm.test(digits) ? digits : null
}
