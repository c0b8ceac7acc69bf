/**
 * Reads numbers from constants in the source, so a rule can compare a document with constants that are not exported.
 */
import ts from 'typescript'
import { parse } from './source.ts'

const declared = new Map<string, ReadonlyMap<string, ts.Expression>>()

/**
 * Returns the number in a top-level constant. `name` may continue with a property's name, as in "lifeMs.session", or
 * with an item's index, as in "delaysMs.0". Throws an error if there is no such number.
 */
export function constantIn(file: string, name: string): number {
  const [first = '', ...path] = name.split('.')
  const expression = constantsOf(file).get(first)
  const found = path.reduce<ts.Expression | undefined>(
    (value, part) => (value === undefined ? value : partOf(value, part)),
    expression,
  )
  if (found === undefined) throw new Error(`${file} has no constant ${name}`)
  return numberOf(file, found)
}

function constantsOf(file: string): ReadonlyMap<string, ts.Expression> {
  const known = declared.get(file)
  if (known !== undefined) return known
  const constants = new Map<string, ts.Expression>()
  for (const statement of parse(file).statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(name) && initializer !== undefined) constants.set(name.text, initializer)
  }
  declared.set(file, constants)
  return constants
}

function partOf(value: ts.Expression, part: string): ts.Expression | undefined {
  if (ts.isArrayLiteralExpression(value)) return value.elements[Number(part)]
  if (!ts.isObjectLiteralExpression(value)) return undefined
  const property = value.properties.find((each) => each.name?.getText() === part)
  return property !== undefined && ts.isPropertyAssignment(property) ? property.initializer : undefined
}

function numberOf(file: string, expression: ts.Expression): number {
  if (ts.isNumericLiteral(expression)) return Number(expression.text)
  if (ts.isIdentifier(expression)) return constantIn(file, expression.text)
  if (ts.isBinaryExpression(expression)) {
    const [left, right] = [numberOf(file, expression.left), numberOf(file, expression.right)]
    if (expression.operatorToken.kind === ts.SyntaxKind.AsteriskToken) return left * right
    if (expression.operatorToken.kind === ts.SyntaxKind.PlusToken) return left + right
  }
  throw new Error(`${file}: ${expression.getText()} is no number that this rule can read`)
}
