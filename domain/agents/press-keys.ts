/**
 * The tool `send_dtmf`, with which the LLM presses keys on the phone. In the argument, `w` is a pause of half a second,
 * and every other character is a key.
 */
const digitsForm = /^[0-9*#A-Dw]{1,32}$/
/** The name of the tool's argument. */
export const digitsName = 'digits'

/** The schema for the arguments if the tool's definition contains no schema. */
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

/**
 * Returns the keys to press, or null if the arguments contain no valid keys. The arguments match the tool's schema, but
 * an API client may have written this schema, so it may allow any text.
 */
export function keysOf(args: unknown): string | null {
  const { digits } = (typeof args === 'object' && args !== null ? args : {}) as { digits?: unknown }
  return typeof digits === 'string' && digitsForm.test(digits) ? digits : null
}
