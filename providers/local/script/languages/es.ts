import type { ScriptLanguage } from './script-language.ts'

export const es: ScriptLanguage = {
  empty:
    'un una unos unas el la los las lo este esta estos estas ese esa eso yo me mi mis nosotros nos nuestro nuestra tú te tu tus usted ustedes ' +
    'su sus él ella ellos es son era eran ser está están estar fue hay ha he han tiene tengo tener puede puedo puedes podría debo quiero ' +
    'quisiera del de en al a para por con sobre como y e o u pero si así que entonces aquí qué cuál cuáles quién cómo favor decir saber ' +
    'necesito dar también muy no sí hola buenos buenas días tardes vale ahora algo más se le les cuando',
  alike: [
    'abierto abierta abiertos abren abre abrir cierra cierran cerrado horario hora cuándo',
    'precio cuesta cuestan costar cuánto vale tarifa caro barato pagar euros',
    'dónde dirección ubicación calle queda encuentra',
    'teléfono número llamar contactar',
    'correo email',
    'reservar reserva reservación',
    'nombre llama llaman',
    'aparcar aparcamiento estacionamiento parking',
    'perro perros mascota mascotas',
  ],
  endings: [/(?:es|as|os|a|o|e|s)$/],
  shortEnding: /s$/,
  labels: { question: 'p|pregunta|cliente', answer: 'r|respuesta|agente', greeting: 'saludo|saluda con' },
  orders:
    'eres|usted es|tu|tus|siempre|nunca|sé|sea|habla|hable|responde|responda|contesta|si|cuando|usa|pregunta|saluda|ayuda|por favor|evita|ofrece',
  triggers: {
    whoAreYou:
      /(?<!\p{L})(?:quién (?:eres|es usted)|(?:tu|su) nombre|eres (?:una? )?(?:ia|bot|modelo|persona|robot))(?!\p{L})/iu,
    hello: /^[¡\s]*(?:hola|buenos días|buenas(?: tardes| noches)?)(?!\p{L})/iu,
    whatCanYouDo: /qué (?:puedes|puede) hacer|qué sabes hacer/iu,
    thanks: /\bgracias\b/i,
    goodbye: /(?<!\p{L})(?:adiós|hasta (?:luego|pronto|mañana))(?!\p{L})/iu,
    stop: /^(?:no,? )?(?:por favor,? )?(?:para|pare|espera|espere|alto|un momento|silencio)(?!\p{L})/iu,
    again:
      /^\W*(?:perd[oó]n\W+)?(?:¿?cómo(?: dice)?\?|¿?qué (?:ha dicho|has dicho|dijo|dijiste)|(?:¿?puede |por favor,? )?(?:repita|repite|repetir)(?:lo)?(?: (?:eso|otra vez|por favor))*)\W*$/iu,
    echo: /^(?:por favor,? )?(?:di|diga|repite|repita)\b(?! (?:eso|lo)\b)[\s:,]*(?=\S|$)/i,
    leaves: /(?<!\p{L})(?:adiós|hasta luego|colgar|eso es todo|nada más|terminar la llamada)(?!\p{L})/iu,
    wantsCallback:
      /(?:llámame|llámeme|llamarme|llámenos) (?:más tarde|luego|de nuevo|otra vez|después)|devol\p{L}+ la llamada/iu,
    calculation:
      /(?<a>-?\d+(?:[.,]\d+)?)\s*(?<operator>\+|-|\*|\/|más|menos|por|dividido (?:por|entre))\s*(?<b>-?\d+(?:[.,]\d+)?)/iu,
  },
  decimalMark: ',',
  numbers: 'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce',
  day: /(?<!\p{L})(?<!\bla )(?:hoy|mañana|pasado mañana|(?:el |este |próximo )?(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo))(?!\p{L})/iu,
  ownName: 'me llamo|mi nombre es|soy|nombre',
  operators: { '+': ['más'], '-': ['menos'], '*': ['por'], '/': ['dividido por', 'dividido entre'] },
  says: {
    introduction: 'Soy el sustituto de Parley, hecho de reglas, no un modelo de lenguaje',
    hello: '¡Hola!',
    askToRepeat: 'Pídame que repita algo.',
    abilities:
      'Repito, calculo y llamo a las herramientas que usted nombra. Para respuestas de verdad, configure una clave como OPENAI_API_KEY.',
    welcome: 'De nada.',
    goodbye: 'Adiós.',
    allRight: 'De acuerdo.',
    stillThere: '¿Sigue usted ahí?',
    sayAgain: 'Perdone, no le he entendido. ¿Puede repetirlo?',
    notConnected: 'Lo siento, no he podido pasar su llamada. ¿En qué más puedo ayudarle?',
    notConnectedTakesMessage: 'Lo siento, no he podido pasar su llamada. ¿Quiere dejar un mensaje?',
    noAnswer: 'y mis instrucciones no tienen respuesta a eso.',
    noRule: 'y no tengo una regla para eso. Configure un modelo de lenguaje para obtener respuestas de verdad.',
    youSaid: 'Usted dijo:',
    toolAnswered: 'La herramienta ha respondido:',
    toolFailed: 'La herramienta ha fallado:',
    done: 'hecho.',
    is: 'es',
    isEmpty: 'está vacío',
    has: 'tiene',
    hasMore: 'tiene más',
    nothing: 'nada',
    and: 'y',
    entry: 'entrada',
    entries: 'entradas',
  },
}
