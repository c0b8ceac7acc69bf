import type { LanguageWords } from './language-words.ts'

export const spanish: LanguageWords = {
  turns: {
    backchannels:
      'sí|si|ajá|aja|claro|vale|bueno|bien|muy bien|exacto|exactamente|correcto|ya|ya veo|entiendo|de acuerdo|perfecto|por supuesto|eso|genial|eh|mmm|cierto|así es|órale|dale',
    unfinished:
      'y|e|o|u|pero|porque|que|cuando|aunque|mientras|como|el|la|los|las|un|una|unos|unas|mi|mis|tu|tus|su|sus|este|esta|estos|estas|de|del|a|al|en|con|por|para|sin|sobre|desde|hasta|entre|me|se|le|lo|quiero|quisiera|puede|eh|pues|o sea|muy|necesito|quería|me gustaría|podría|llamo para|número es|nombre es|dirección es|se escribe|arroba|guión',
  },
  agent: {
    fallback: 'Perdone, ahora mismo no puedo responder. ¿Puede repetirlo?',
    toolLeadIn: 'Un momento, por favor.',
    screeningQuestion: 'Para aceptar la llamada, pulse 1 o diga sí. Para rechazarla, pulse 2 o diga no.',
    screeningReason: 'Hola. Tengo una llamada para usted.',
    summaryIntroduction: 'La persona ha dicho:',
  },
  decisions: {
    yes: 'sí|si|claro|por supuesto|acepto|de acuerdo|vale|adelante|páselo|pásemelo|pásame',
    no: 'no|rechazo|ahora no|ocupado|ocupada|más tarde|nunca',
  },
  greetings: {
    voicemail:
      'buzón|buzon|contestador|deje su mensaje|deje un mensaje|deja un mensaje|deja tu mensaje|después de la señal|después del tono|tras la señal',
    excuse: 'no puedo atender|no puedo hablar|no puedo contestar',
    busy: 'estoy conduciendo|estoy manejando|en el coche|en el carro|estoy en una reunión|estoy ocupado|estoy ocupada|estoy trabajando|llámeme|llámame|un momento|un segundo',
    ambiguous: 'no está disponible',
    person:
      'quiere dejar|desea dejar|en qué puedo ayudar|en qué puedo ayudarle|en qué le puedo ayudar|en qué puedo servirle|de parte de quién|quién habla|me dejó un|me dejaste|me ha dejado|me llamó',
    conversing: 'diga su nombre|motivo de su llamada|pulse uno|pulse 1|marque uno|marque 1|oprima uno|no cuelgue',
  },
  transferRequests:
    'páseme|pásame|comuníqueme|transfiérame|transferirme|me transfiera|me pase con|hablar con|una persona real|un agente',
}
