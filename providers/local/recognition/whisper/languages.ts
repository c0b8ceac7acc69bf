/** The languages that Whisper knows, in their tokens' order, as Whisper spells them. */
const whisperCodes = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml ' +
  'cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am ' +
  'yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su'
).split(' ')

/** BCP 47 has another code for these languages. */
const bcp47Of: ReadonlyMap<string, string> = new Map([
  ['jw', 'jv'],
  ['tl', 'fil'],
])
/** Norwegian is also requested by the code for its most usual written form. */
const alsoRequested: ReadonlyMap<string, string> = new Map([['nb', 'no']])

/** The languages that a request may name, as BCP 47 base languages. */
export const whisperLanguages: readonly string[] = [...whisperCodes.map(languageOf), ...alsoRequested.keys()]

/** Returns the BCP 47 base language for Whisper's code. */
export function languageOf(code: string): string {
  return bcp47Of.get(code) ?? code
}

const codes: ReadonlyMap<string, string> = new Map([
  ...whisperCodes.map((code) => [languageOf(code), code] as const),
  ...alsoRequested,
])

/** Returns Whisper's code for a BCP 47 base language. Undefined if Whisper does not know the language. */
export function whisperCodeOf(language: string): string | undefined {
  return codes.get(language)
}
