/**
 * Reads the project's files for the rules in this folder: their names, comments, identifiers, test titles and imports.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'

export const root = path.resolve(import.meta.dirname, '../..')
export const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** Every tracked file and every new file, with paths relative to the root. */
export const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))

/** Returns true for generated files and fixtures. */
export const isMade = (file: string) => /^(generated|test\/fixtures|test\/codegen\/golden)\//.test(file)

/** Code that people wrote. */
export const code = files.filter((file) => /\.(ts|tsx|js|mjs|cjs)$/.test(file) && !isMade(file))

/** Programs in other languages, except the code in codegen/ that is copied into each generated client. */
export const scripts = files.filter((file) => /^(?!codegen\/).*\.(sh|py|go|java|cs)$/.test(file) && !isMade(file))

export function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, read(file), ts.ScriptTarget.ESNext, true)
}

/**
 * Returns each comment's text without its comment characters, as one line. Neighbouring line comments are one comment.
 */
export function commentsOf(source: ts.SourceFile): string[] {
  return linesOfComments(source).map((lines) => oneLine(lines.join(' ')))
}

/** Returns each comment in a script, as one line. */
export function scriptComments(file: string): string[] {
  return linesInScript(file).map((lines) => oneLine(lines.join(' ')))
}

/** Returns each comment's sentences, without drawings, code in backticks and quotations. Short notes are left out. */
export function proseOf(source: ts.SourceFile): string[] {
  return proseIn(linesOfComments(source))
}

/** Returns a script's sentences like `proseOf`. */
export function scriptProse(file: string): string[] {
  return proseIn(linesInScript(file))
}

function proseIn(comments: readonly string[][]): string[] {
  const drawing = /[│├└┌─►▼↔╮]/
  return comments
    .map((lines) => oneLine(lines.filter((line) => !drawing.test(line)).join(' ')))
    .map((comment) => comment.replaceAll(/`[^`]*`|"[^"]*"/g, ' '))
    .filter((prose) => (prose.match(/[a-z]+/gi) ?? []).length >= proseWordsLeast)
}
const proseWordsLeast = 6

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** Returns the comments that have whole lines, and Python's docstrings. Neighbouring lines are one comment. */
function linesInScript(file: string): string[][] {
  const mark = /\.(sh|py)$/.test(file) ? /^\s*#(?!!)\s?/ : /^\s*(?:\/\/|\/?\*+\/?)\s?/
  const comments: string[][] = [[]]
  for (const line of read(file).split('\n'))
    if (mark.test(line)) comments.at(-1)?.push(line.replace(mark, '').replace(/\*\/$/, ''))
    else if (comments.at(-1)?.length) comments.push([])
  const docstrings = /\.py$/.test(file) ? [...read(file).matchAll(/^\s*"""([^]*?)"""/gm)] : []
  return [...comments, ...docstrings.map(([, text = '']) => text.split('\n'))]
}

function linesOfComments(source: ts.SourceFile): string[][] {
  const text = source.text
  const ranges = new Map<number, ts.CommentRange>()
  const visit = (node: ts.Node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) ranges.set(range.pos, range)
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) ranges.set(range.pos, range)
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  const inOrder = [...ranges.values()].sort((a, b) => a.pos - b.pos)
  const comments: string[][] = []
  let lineEnd = -1
  for (const { pos, end } of inOrder) {
    const raw = text.slice(pos, end)
    const lines = raw
      .replaceAll(/^\/\*+|\*\/$|^\/\//g, '')
      .split('\n')
      .map((line) => line.replace(/^\s*\*\s?/, ''))
    const follows = raw.startsWith('//') && lineEnd >= 0 && /^\n?\s*$/.test(text.slice(lineEnd, pos))
    if (follows) comments.at(-1)?.push(...lines)
    else comments.push(lines)
    lineEnd = raw.startsWith('//') ? end : -1
  }
  return comments
}

/** Returns the file's identifiers. Private names lose their `#`. */
export function namesOf(source: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node) => {
    if (ts.isIdentifier(node)) names.add(node.text)
    else if (ts.isPrivateIdentifier(node)) names.add(node.text.slice(1))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

/** Returns the test titles: the first arguments in `t.test(…)`. */
export function titlesOf(source: ts.SourceFile): string[] {
  const titles: string[] = []
  const visit = (node: ts.Node) => {
    const title = ts.isCallExpression(node) && isTest(node.expression) ? node.arguments[0] : undefined
    if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text)
    else if (title !== undefined && ts.isTemplateExpression(title)) titles.push(title.getText(source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return titles
}

function isTest(callee: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(callee) && callee.name.text === 'test'
}

/** Returns the project files that a file imports or exports from, types included. */
export function importsOf(source: ts.SourceFile, { types = true } = {}): string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    if (!types && isOfTypes(statement)) return []
    const from = statement.moduleSpecifier
    if (!from || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return []
    return [path.posix.join(path.posix.dirname(source.fileName), from.text)]
  })
}

const isOfTypes = (statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean =>
  ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly === true : statement.isTypeOnly

/**
 * Returns groups of files that import one another in a circle: strongly connected components with two or more files
 * (Tarjan, 1972).
 */
export function circles(arrows: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (file: string) => {
    index.set(file, index.size)
    low.set(file, index.get(file) as number)
    stack.push(file)
    for (const next of arrows.get(file) ?? []) {
      if (!index.has(next)) {
        visit(next)
        low.set(file, Math.min(low.get(file) as number, low.get(next) as number))
      } else if (stack.includes(next)) low.set(file, Math.min(low.get(file) as number, index.get(next) as number))
    }
    if (low.get(file) !== index.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) found.push(circle.sort())
  }
  for (const file of arrows.keys()) if (!index.has(file)) visit(file)
  return found
}
