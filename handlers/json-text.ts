import { Refusal } from '../runtime/engine/handler.ts'
import { parseJson } from '../runtime/engine/json.ts'

/**
 * Returns the text if it is JSON within the limits for a body. Otherwise throws the refusal invalid_parameter, because
 * a provider that parses a tool call's arguments would refuse them after the idempotency key was spent.
 */
export function jsonText(text: string, param: string): string {
  try {
    parseJson(text)
    return text
  } catch {
    throw new Refusal('invalid_parameter', {
      param,
      message: `${param} must be JSON text.`,
      hint: 'Send the arguments as the response had them; {} where the function takes none.',
    })
  }
}
