/** Ajv's errors as one refusal that names the place. What is wrong is said in the schema's words; a value of the request is never repeated. */
import { Refusal } from './handler.ts'
import type { Violation } from './operation.ts'

/** A JSON pointer into the body: `/routing/mode`. `whole` is what the body is called where it is wrong as such. */
export function refuseBody(errors: readonly Violation[] | null | undefined, whole = 'the body'): Refusal {
  const violation = mostTelling(errors)
  const pointer = violation ? pointerTo(violation) : ''
  return refusal(violation, pointer, pointer === '' ? whole : pointer)
}

/** Checked were {path, query, header}; `param` is the parameter's own name. `headerName` spells a header as clients send it. */
export function refuseParams(
  errors: readonly Violation[] | null | undefined,
  headerName: (lowerCase: string) => string,
): Refusal {
  const violation = mostTelling(errors)
  const [place = '', name = ''] = violation ? pointerTo(violation).slice(1).split('/') : []
  const param = place === 'header' ? headerName(name) : name
  return refusal(violation, param, param)
}

function refusal(violation: Violation | undefined, param: string, subject: string): Refusal {
  return new Refusal('invalid_parameter', {
    param,
    message: `${subject} ${violation ? complaint(violation) : 'is not valid'}`,
    ...(violation && { keyword: violation.keyword }),
  })
}

/** Of a union Ajv reports every arm and then the union: the deepest error is of the arm that was meant. */
function mostTelling(errors: readonly Violation[] | null | undefined): Violation | undefined {
  const depth = ({ instancePath }: Violation) => instancePath.split('/').length
  const isUnion = ({ keyword }: Violation) => keyword === 'oneOf' || keyword === 'anyOf' || keyword === 'if'
  const leaves = (errors ?? []).filter((error) => !isUnion(error))
  return (
    leaves.reduce<Violation | undefined>(
      (best, error) => (best && depth(best) >= depth(error) ? best : error),
      undefined,
    ) ?? errors?.[0]
  )
}

function pointerTo({ instancePath, params }: Violation): string {
  const field = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  const member = field ?? params['propertyName'] ?? params['tag']
  const pointer = member === undefined ? instancePath : `${instancePath}/${escapeToken(member as string)}`
  // The names of unknown fields are the client's, and as long as it likes.
  return pointer.slice(0, 256)
}

/** RFC 6901. */
function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1')
}

function complaint({ keyword, message, params }: Violation): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is required'
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not a known field'
    case 'propertyNames':
      return 'is not a name that is allowed here'
    case 'discriminator':
      return params['error'] === 'tag' ? 'must be a string' : 'is not one of the known values'
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}`
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    default:
      return message ?? 'is not valid'
  }
}
