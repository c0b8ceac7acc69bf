/** Wraps an SDK's client so that each method call and its responses are recorded. */

/** Returns the resources and the methods that a client or a resource has. */
function partsOf(value) {
  const resources = Object.entries(value).filter(([name, part]) => isResource(name, part))
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(value)).filter((name) => name !== 'constructor')
  return { resources: Object.fromEntries(resources), methods }
}

const isResource = (name, part) => typeof part === 'object' && name !== 'http' && !name.endsWith('Resource')

/** Returns the names of all methods, such as `agents.tools.list`. */
export function methodsOf(value, prefix = '') {
  const { resources, methods } = partsOf(value)
  const inner = Object.entries(resources).flatMap(([name, part]) => methodsOf(part, `${prefix}${name}.`))
  return [...methods.map((name) => `${prefix}${name}`), ...inner]
}

/**
 * Returns a client with the same methods. `answers` gets each response, and each event of a stream, with its method.
 */
export function recorded(value, answers, prefix = '') {
  const { resources, methods } = partsOf(value)
  const called = methods.map((name) => [name, recording(value[name].bind(value), `${prefix}${name}`, answers)])
  const inner = Object.entries(resources).map(([name, part]) => [name, recorded(part, answers, `${prefix}${name}.`)])
  return Object.fromEntries([...called, ...inner])
}

const recording =
  (run, method, answers) =>
  (...args) => {
    const answer = run(...args)
    if (answer[Symbol.asyncIterator]) return eachRecorded(answer, method, answers)
    return answer.then((value) => {
      answers.push({ method, answer: value })
      return value
    })
  }

async function* eachRecorded(stream, method, answers) {
  for await (const event of stream) {
    answers.push({ method, answer: event })
    yield event
  }
}
