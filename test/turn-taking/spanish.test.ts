import { checkLanguage } from './check.ts'

checkLanguage('es', {
  numbers: {
    holds: `
      Mi código postal es 28
      Mi DNI es 12 345
      Mi número de cliente es 12
      El número de contrato es cuatro siete
      Mi número de cuenta es 2100
      El código de seguridad es 12
      Mi fecha de nacimiento es el 12
      Mi IBAN es ES91
      Mi IBAN es ES91 2100 0418
      Es el 47 11
      Mi código postal es veintiocho
      El código de acceso es 48
      Mi PIN es 4
      El número de reserva es dos
      Mi número de la seguridad social es 28 1234
      El número de referencia es`,
    ends: `
      Mi código postal es 28013
      Mi número de pedido es 4711
      El código de error es 12
      Mi DNI es 12345678
      Mi número de cuenta es 12345678
      El código de seguridad es 123.
      Mi fecha de nacimiento es el 12 3 1980
      A las 10:30.
      El 12/05/2024.
      Cuesta 4,50
      Tengo veinticinco
      Treinta y cinco
      Mi IBAN es ES91 2100 0418 4502 0005 1332
      Habitación 12
      No tengo IBAN.
      Mi PIN es 1234`,
  },
  cards: {
    holds: `
      Mi tarjeta es la 4111
      El número de mi tarjeta es 4111 1111
      Mi tarjeta de crédito es 4111 1111 1111
      El número de la tarjeta es cuatro uno uno uno
      Mi tarjeta de débito es la 5500
      El número de tarjeta es cuarenta y uno once
      Tarjeta 3782 822463
      Mi tarjeta es 4111 1111 1111 11.
      El número de tarjeta es doble cero
      La tarjeta es 4000
      El número de mi tarjeta es`,
    ends: `
      Mi tarjeta es la 4111 1111 1111 1111
      Mi tarjeta es 3782 822463 10005
      El número de mi tarjeta es 4111111111111111.
      Me robaron la tarjeta.
      Quiero pagar con tarjeta
      Mi tarjeta termina en 42
      Mi tarjeta caduca en 27
      Tengo dos tarjetas
      He perdido la tarjeta
      La fecha de caducidad es 12 27
      ¿Es válida mi tarjeta?`,
  },
  phones: {
    holds: `
      Mi número es 612
      Mi número es seis
      Mi número es el seis uno dos
      Mi teléfono es 612 34
      Puede llamarme al 612
      Mi móvil es 612 345 6
      Mi número es seiscientos doce
      Mi número es +34 612
      Mi teléfono es 91 123
      Llámeme al 93
      Es el 6 1 2
      Mi número es 612.
      Mi celular es 55 12
      Me encuentra en el 612
      Mi número es más treinta y cuatro
      Mi número es seiscientos doce treinta y cuatro
      Mi número de teléfono es`,
    ends: `
      Mi número es 612 345 678
      Mi móvil es 612345678.
      Mi número es +34 612 345 678
      Mi número es seis uno dos tres cuatro cinco seis siete ocho
      Mi número es seiscientos doce treinta y cuatro cincuenta y seis setenta y ocho
      Mi teléfono es 91 123 45 67
      Mi móvil es un iPhone 12
      Mi número ha cambiado
      Ya tiene mi número.
      Llámeme mañana.
      Llámeme a las 5.
      Mi celular es 55 1234 5678`,
  },
  spelling: {
    holds: `
      Me llamo López, L O P
      L-O-P
      Se escribe con B
      B de Barcelona
      B de Barcelona, A de Ana
      M como Madrid
      Se deletrea G
      Doble L
      García, G A R
      El código es X 7 K
      Mi nombre se escribe
      N de Navarra, U de Úbeda
      Alfa Bravo Charlie`,
    ends: `
      Me llamo López, L O P E Z
      Ruiz. R-U-I-Z.
      Me llamo López.
      Plan B
      Vitamina C
      ¿Cómo se escribe?
      Soy de Barcelona
      Se escribe así
      Lo vi en la T V
      Me llamo Ana
      Está mal escrito
      Vivo en Madrid`,
  },
  mail: {
    holds: `
      Mi correo es ana
      Mi correo es ana punto
      Mi correo electrónico es ana punto lópez
      Mi correo es ana arroba
      Mi correo es ana arroba ejemplo
      Mi email es ana arroba ejemplo punto
      Es ana.lopez@ejemplo
      ana@
      Mi dirección de correo es ana guion bajo
      Mi correo electrónico es
      Ana punto lópez arroba gmail
      Mi correo es info guion`,
    ends: `
      Mi correo es ana arroba ejemplo punto com
      Mi correo es ana.lopez@ejemplo.es
      Es ana@ejemplo.com.
      Mi correo no funciona
      Mi correo es incorrecto.
      Mándeme un correo.
      No he recibido el correo
      Mi correo es el mismo
      Ana punto lópez arroba gmail punto com
      Mi email es nuevo
      Llegamos a buen punto.`,
  },
  hesitations: {
    holds: `
      Eh
      Este
      Quisiera una mesa, este
      Quiero reservar, este.
      A ver
      A ver.
      Vamos a ver
      Déjeme pensar.
      Un momento, por favor.
      Un momentito
      Espere
      Pues
      Bueno
      Sí, pues
      O sea
      Espere un segundo
      ¿Cómo se dice
      Cómo le diría
      Ehm...
      Déjame ver`,
    ends: `
      Lo voy a ver.
      Quiero este.
      No sé.
      Espero su llamada.
      Ahora no
      Es un buen momento para llamar.
      Está bueno.
      Ya lo veo.
      Llamaré en un momento.
      Nada más
      Eso pienso yo`,
  },
  requests: {
    holds: `
      Me podría
      Me podría por favor
      ¿Me podría
      ¿Podría usted
      Podría
      Quisiera
      Quisiera.
      Me gustaría
      Necesito
      Quería saber
      ¿Sería posible
      Llamo para
      ¿Me puede decir
      ¿Tienen mesas
      Quiero una mesa para
      Tengo una pregunta sobre
      Le importaría
      ¿Puede
      Busco
      Quería preguntar`,
    ends: `
      ¿Me podría ayudar?
      Quiero una mesa para dos.
      Eso es todo lo que necesito.
      No puedo.
      Sí, por favor
      Sí, puede.
      Quiero esa.
      Necesito una mesa
      ¿Tienen mesa para hoy?
      Me llamo Ana
      No, gracias
      Dígame el precio.
      Cuando puedas.
      Lo que quiero es cancelar.`,
  },
  backchannels: {
    listens: `
      Sí, claro.
      Ajá
      Vale
      Vale, vale.
      Mhm
      Entiendo.
      Ya veo
      De acuerdo
      Perfecto
      Claro
      Muy bien
      Por supuesto.`,
    answers: `
      No
      Espere
      Un momento
      Sí, pero
      Pare
      ¿Cómo?
      ¿Qué?
      Eso no
      Otra vez
      Perdone
      Está mal`,
  },
  decisions: {
    accepted: `
      Sí.
      Sí, claro
      Claro
      Vale
      Páselo
      No hay problema, páselo
      De acuerdo
      Adelante
      Por supuesto
      ¿Por qué no?
      Okay
      Sí, pásemela`,
    declined: `
      No.
      Ahora no
      No puedo
      Estoy ocupado
      Más tarde
      No, gracias
      Rechazo la llamada
      En otro momento
      Nunca
      Ahora mismo no puedo
      No quiero`,
    undecided: `
      ¿Quién es?
      ¿De qué se trata?
      No sé
      No lo sé
      ¿Cómo dice?
      ¿Hola?
      No le he oído
      No estoy seguro
      No entiendo
      Un momento
      ¿Puede repetirlo?`,
  },
  greetings: {
    machines: `
      Deje su mensaje después de la señal.
      Ha llamado al buzón de voz de Ana.
      Este es el contestador de la familia Ruiz.
      Deja un mensaje y te llamo.
      Grabe su mensaje después del tono.
      Después de oír la señal, hable.
      Le devolveré la llamada lo antes posible.
      El número marcado no existe.
      El teléfono al que llama está apagado o fuera de cobertura.
      Puede dejar un mensaje tras la señal.
      No estoy en casa, deje su nombre y su teléfono.
      En este momento no puedo atenderle, deje un mensaje.`,
    people: `
      Ahora no puedo atender, estoy conduciendo.
      ¿Me dejó un mensaje en el buzón esta mañana?
      ¿Quiere dejar un mensaje?
      Dígame.
      Hola, soy Ana.
      Estoy en una reunión, llámeme luego.
      ¿De parte de quién?
      Un momento, por favor.
      Se ha equivocado de número.
      ¿En qué puedo ayudarle?
      Estoy ocupada, ¿qué quería?
      He oído su mensaje en el contestador.
      No puedo hablar ahora.`,
  },
})
