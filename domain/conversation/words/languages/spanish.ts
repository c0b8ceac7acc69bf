import { announcing } from './announcing.ts'
import type { LanguageWords } from './language-words.ts'
import { numeralTable } from './numerals.ts'

/**
 * Words that may come between an announcement such as "mi número" and the number. "Mi móvil es un iPhone 12" announces
 * no number.
 */
const links =
  'es|son|sería|el|la|los|las|número|de|mi|su|teléfono|móvil|celular|fijo|contacto|siguiente|más|prefijo|al|crédito|débito|acceso'
const hundreds: Readonly<Record<string, readonly string[]>> = {
  '': ['cien', 'ciento'],
  dos: ['doscientos'],
  tres: ['trescientos'],
  cuatro: ['cuatrocientos'],
  cinco: ['quinientos'],
  seis: ['seiscientos'],
  siete: ['setecientos', 'sietecientos'],
  ocho: ['ochocientos'],
  nueve: ['novecientos', 'nuevecientos'],
}

export const spanish: LanguageWords = {
  turns: {
    backchannels:
      'sí|si|ajá|aja|claro|vale|bueno|bien|muy bien|exacto|exactamente|correcto|ya|ya veo|entiendo|de acuerdo|perfecto|por supuesto|eso|genial|eh|mmm|cierto|así es|órale|dale',
    unfinished:
      'y|e|o|u|pero|porque|que|cuando|aunque|mientras|como|sino|ni|así que|de modo que|para que|ya que|es que|lo que|el|los|las|un|mi|mis|tus|su|sus|de|del|a|al|en|con|por|para|sin|desde|hasta|entre|según|contra|hacia|durante|mediante|cada|nuestro|nuestra|nuestros|nuestras|me|se|le|les|nos|muy|tan|pero si|y si|saber si|número es|teléfono es|nombre es|apellido es|dirección es|correo es|código es|problema es|pregunta es|iban es|me llamo|mi nombre es|se escribe|se escribe con|arroba|guion|guión|guion bajo|guión bajo|o sea|llamo para|llamo por|llamaba para|llamaba por|le llamo por|tengo que|hay que|acerca de|a través de|en lugar de|además de|antes de|después de|por ejemplo|es decir|lo|qué|y luego|y después|o quizás|o tal vez|creo que|voy a',
    particles:
      'este|esta|estos|estas|ese|esa|esos|esas|una|unos|unas|uno|la|tu|sobre|bajo|punto|alguna|algún|ningún|cuyo|cual|quien|donde|más o menos|tengo|creo|era|llamo|estoy',
    openings: 'por favor|bueno|pues|mire|oiga|verá',
    hesitations:
      'eh|ehh|ehm|em|mmm|hm|hmm|a ver|vamos a ver|déjeme ver|déjame ver|déjeme pensar|déjame pensar|déjeme que piense|deje que piense|déjeme mirar|déjame mirar|déjeme buscar|déjeme comprobar|estoy pensando|un momento|un momento por favor|un momentito|un momentito por favor|un segundo|un segundo por favor|un segundito|espere|espera|espere un momento|espera un momento|espere un segundo|espérese|aguarde|aguarde un momento|permítame|permítame un momento|cómo se dice|cómo se llama esto|cómo le diría|cómo decirlo|cómo le explico|digamos|no sé cómo decirlo|qué iba a decir|por dónde iba|ahora lo busco|lo estoy buscando|un ratito|un minuto|un minutito|un instante|ahora mismo se lo digo|ahora se lo digo|enseguida se lo digo|quiero decir|pues mire|eh pues|no me acuerdo|cómo era|cuál era|lo tengo por aquí',
    winsTime:
      /(?:^| )(?:(?:déjeme|déjame|permítame|deje que)(?: que)? (?:ver|vea|pensar|piense|mirar|mire|buscar|busque|comprobar|consultar|revisar|recordar)(?: \p{L}+){0,4}|(?:deme|dame|espere) un[oa]? (?:momento|momentito|segundo|segundito|minuto|minutito|instante)(?: por favor)?)$/u,
    fillers: 'este|esto|pues|bueno|digamos|entonces|o sea|es que|verá|mire|nada|en fin',
    begunRequests:
      'quiero|quisiera|quería|querría|me gustaría|necesito|necesitaría|necesitaba|puede|puedes|podría|podrías|podrían|me puede|me puedes|me podría|me podrías|nos podría|le importaría|te importaría|sería posible|es posible|sería tan amable de|tendría|tendrían|puedo|podría yo|podemos|podríamos|me podría decir|podría decirme|me puede decir|puede decirme|me puede dar|me podría dar|quisiera saber|quería saber|quería preguntar|quería preguntarle|me preguntaba si|quisiera preguntar|querría saber|sabe si|sabe usted|busco|estoy buscando|tengo una pregunta sobre|tengo una duda sobre|tengo una consulta sobre|hay alguna|hay algún|cuánto|cuántos|cuántas|dígame|deme|póngame|haría el favor de|me haría el favor de|me gustaría saber|quería preguntar si|a qué hora|qué hora|dónde puedo|cómo puedo|cuándo puedo|puedo hablar con|podría hablar con|quisiera hablar con|me interesa|me interesaría',
    softeners:
      'por favor|tal vez|quizá|quizás|usted|ustedes|también|ya|ahora|amablemente|rápidamente|me|nos|saber|preguntar|preguntarle|decir|decirme|si|solo|sólo',
    determiners: 'mi|nuestro|nuestra|el|la|su',
    complete:
      'no puedo|si puedo|cuando puedo|sí puedo|no puede|si puede|sí puede|cuando puede|cuando puedas|si puedes|no podría|lo que quiero|es lo que quiero|lo que necesito|todo lo que necesito|lo que quería|lo que necesitaba|lo que busco|ya quisiera|no quiero|eso quiero|eso quería|eso necesito|voy a ver|lo voy a ver|dentro de un momento|en un momento|por el momento|de momento|hace un momento|ya lo|si es posible|no es posible|no necesito|eso espero|no tengo|sí tengo|ya tengo|lo tengo|no estoy|aquí estoy|ya estoy|eso creo|como era|lo quiero|la quiero|los quiero|las quiero|sí quiero|no sé decir|quiero decir que no|es lo que tengo|lo que tengo|lo que era|por eso llamo|le puedo|se lo puedo|te puedo|lo puedo|eso le quería|eso es lo que quería',
  },
  dictation: {
    numerals: () =>
      numeralTable({
        digits: 'cero uno/un/una dos tres cuatro cinco seis siete ocho nueve',
        teens: 'diez once doce trece catorce quince dieciséis/dieciseis diecisiete dieciocho diecinueve',
        tens: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
        join: (ten, digit) =>
          ten === 'veinte' ? [`veinti${digit}`, `veinti${withAccent(digit)}`] : [`${ten} y ${digit}`],
        hundred: (digit) => hundreds[digit] ?? [],
        links: [' '],
        others: { doble: '*', triple: '**' },
      }),
    announcements: [
      { words: announcing('iban', links), code: 'iban' },
      { words: announcing('tarjeta(?: de crédito| de débito| bancaria)?', links), digits: 15 },
      { words: announcing('cvv|cvc|código de seguridad', links), digits: 3 },
      { words: announcing('código postal', links), digits: 5 },
      { words: announcing('dni|nif|documento(?: nacional)?(?: de identidad)?|cédula', links), digits: 8 },
      { words: announcing('seguridad social', links), digits: 11 },
      { words: announcing('(?:número de )?cuenta(?: bancaria)?', links), digits: 8 },
      {
        words: announcing(
          '(?:número|código) de (?:cliente|contrato|póliza|referencia|socio|socia|reserva|expediente|factura|pedido|paciente|afiliado)',
          links,
        ),
        digits: 4,
      },
      { words: announcing('pin|clave|contraseña|código(?: de acceso| de verificación)?', links), digits: 4 },
      {
        words: announcing(
          '(?:tele)?teléfono|móvil|celular|fijo|whatsapp|(?:mi|su|nuestro|el|tu|otro) número|prefijo',
          links,
        ),
        digits: 'phone',
      },
      {
        words:
          /(?<!\p{L})(?:ll[aá]m\p{L}*(?: \p{L}+)? al|(?:localizar|contactar|encontrar|marcar)me (?:al|en el)|me encuentra en el)(?: más)?$/u,
        digits: 'phone',
      },
      { words: announcing('fecha de nacimiento|cumpleaños|nací|nacido|nacida', links), digits: 3 },
      { words: announcing('fecha de caducidad|fecha de vencimiento', links), digits: 4 },
    ],
    phoneForms: [
      { starts: /^[6789]/, digits: 9 },
      { starts: /^5/, digits: 10 },
    ],
    is: 'es|sería',
    plus: 'más|mas',
    mail: {
      announcements: 'correo|correo electrónico|e ?mail|mail|dirección de correo|dirección de correo electrónico',
      at: 'arroba',
      dot: 'punto',
      remarks:
        'no|incorrecto|correcto|equivocado|nuevo|viejo|otro|el|la|ese|este|muy|importante|siempre|ya|erróneo|antiguo|personal|mío|un|una|lento|malo|bueno',
    },
    spelling: {
      announcements: '(?:se escribe|se deletrea|deletreo|deletreado|escrito)(?: con| así| es| la| una){0,2}',
      asIn: 'como en',
      like: 'de|como',
      twice: 'doble|dos',
      letterNames: 'efe|hache|jota|ele|elle|eme|ene|eñe|erre|ere|ese|uve|equis|zeta|be|ce|ge|pe|cu|ka',
      letterWords: 'y a|o a|a e|e a|a o|a a|y o|o k|t v|e i',
      alphabet:
        'alfa bravo charlie delta eco foxtrot golf hotel india julieta kilo lima mike noviembre oscar papa quebec romeo sierra tango uniforme víctor whisky yanqui zulú',
    },
  },
  agent: {
    fallback: 'Perdone, ahora mismo no puedo responder. ¿Puede repetirlo?',
    toolLeadIn: 'Un momento, por favor.',
    screeningQuestion: 'Para aceptar la llamada, pulse 1 o diga sí. Para rechazarla, pulse 2 o diga no.',
    screeningReason: 'Hola. Tengo una llamada para usted.',
    summaryIntroduction: 'La persona ha dicho:',
  },
  decisions: {
    yes: 'sí|si|claro|por supuesto|acepto|de acuerdo|vale|adelante|páselo|pásemelo|pásame|por qué no|no hay problema|no hay ningún problema|ningún problema|sin problema|no me importa|no hay inconveniente|pásemela|pásela|pásamelo|bueno|okey|cómo no|lo cojo|lo tomo|perfecto|con gusto|conécteme|me parece bien',
    no: 'no|rechazo|ahora no|ocupado|ocupada|más tarde|nunca|otro momento|otro día|imposible|en absoluto|no gracias|ni hablar',
    undecided:
      'no sé|no lo sé|no entiendo|no le entiendo|no he entendido|no lo entiendo|no entendí|no estoy seguro|no estoy segura|no le he oído|no le oigo|no oigo|no oigo bien|no he oído|no le escucho|no escuché|sí dígame|sí diga|sí hola|sí quién|sí buenos días|sí buenas',
    postponed:
      'ahora no|ahora mismo no|no ahora|hoy no|todavía no|en este momento no|más tarde|luego|otro momento|otro día|mañana|la próxima semana',
  },
  greetings: {
    voicemail:
      'buzón|buzon|contestador|deje su mensaje|deje un mensaje|deja un mensaje|deja tu mensaje|después de la señal|después del tono|tras la señal|después de oír la señal|grabe su mensaje|graba tu mensaje|graba un mensaje|deje su nombre|deja tu nombre|deje sus datos|lo antes posible le llamo|devolveré la llamada|devolveremos la llamada|no existe|apagado o fuera de cobertura|fuera de cobertura|fuera de servicio|dejar su mensaje después|puede dejar un mensaje|buzón de voz',
    excuse: 'no puedo atender|no puedo hablar|no puedo contestar',
    busy: 'estoy conduciendo|estoy manejando|en el coche|en el carro|estoy en una reunión|estoy ocupado|estoy ocupada|estoy trabajando|llámeme|llámame|un momento|un segundo',
    ambiguous: 'no está disponible',
    person:
      'quiere dejar|desea dejar|en qué puedo ayudar|en qué puedo ayudarle|en qué le puedo ayudar|en qué puedo servirle|de parte de quién|quién habla|me dejó un|me dejaste|me ha dejado|me llamó|mensaje en el contestador|mensaje en el buzón|oído su mensaje|escuchado su mensaje|escuché su mensaje|qué quería|con quién hablo|quién es usted|quiere que le deje|quieres dejar|se ha equivocado|se equivocó|número equivocado',
    conversing: 'diga su nombre|motivo de su llamada|pulse uno|pulse 1|marque uno|marque 1|oprima uno|no cuelgue',
  },
  transferRequests:
    'páseme|pásame|comuníqueme|transfiérame|transferirme|me transfiera|me pase con|hablar con|una persona real|un agente',
}

/** In compounds such as "veintidós" the last syllable has an accent. */
function withAccent(digit: string): string {
  return { un: 'ún', dos: 'dós', tres: 'trés', seis: 'séis' }[digit] ?? digit
}
