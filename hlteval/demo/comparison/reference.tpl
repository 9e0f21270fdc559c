<TEMPLATE-C1-1> :=
    DOC_NR: C1 ##14#16#
    EVENT: <CONTEST-C1-1>
<CONTEST-C1-1> :=
    NAME: "white loaf" ##67#77#
    WINNER: "Åsa Ek" ##33#39#
    LOSER: "Nurgul" ##45#51#
    PLACE: "Lyon" ##55#59#
    SCORE: "6-1" ##79#82#
<TEMPLATE-C2-1> :=
    DOC_NR: C2 ##14#16#
    EVENT: <CONTEST-C2-1>
<CONTEST-C2-1> :=
    NAME: "flat bread" ##75#85#
    WINNER: "Daniel Omar" ##33#44#
    LOSER: "Ines Costa" ##50#60#
    PLACE: "Osh" ##64#67#
    SCORE: "7-2" ##87#90#
<TEMPLATE-C3-1> :=
    DOC_NR: C3 ##14#16#
    EVENT: <CONTEST-C3-1>
<CONTEST-C3-1> :=
    NAME: "corn bread" ##71#81#
    WINNER: "Nurgul" ##33#39#
    LOSER: "Anna Berg" ##45#54#
    PLACE: "Malmö" ##58#63#
    SCORE: "8-0" ##83#86#
<TEMPLATE-C4-1> :=
    DOC_NR: C4 ##14#16#
    EVENT: <CONTEST-C4-1>
<CONTEST-C4-1> :=
    NAME: "rye bread" ##71#80#
    WINNER: "Ines Costa" ##33#43#
    LOSER: "Åsa Ek" ##49#55#
    PLACE: "Graz" ##59#63#
    SCORE: "5-1" ##82#85#
<TEMPLATE-C5-1> :=
    DOC_NR: C5 ##14#16#
    EVENT: <CONTEST-C5-1>
<CONTEST-C5-1> :=
    NAME: "white loaf" ##76#86#
    WINNER: "Anna Berg" ##33#42#
    LOSER: "Daniel Omar" ##48#59#
    PLACE: "Porto" ##63#68#
    SCORE: "6-2" ##88#91#
<TEMPLATE-C6-1> :=
    DOC_NR: C6 ##14#16#
    EVENT: <CONTEST-C6-1>
<CONTEST-C6-1> :=
    NAME: "flat bread" ##68#78#
    WINNER: "Åsa Ek" ##33#39#
    LOSER: "Nurgul" ##45#51#
    PLACE: "Cairo" ##55#60#
    SCORE: "7-0" ##80#83#
<TEMPLATE-C7-1> :=
    DOC_NR: C7 ##14#16#
    EVENT: <CONTEST-C7-1>
<CONTEST-C7-1> :=
    NAME: "corn bread" ##76#86#
    WINNER: "Daniel Omar" ##33#44#
    LOSER: "Ines Costa" ##50#60#
    PLACE: "Lyon" ##64#68#
    SCORE: "8-1" ##88#91#
<TEMPLATE-C8-1> :=
    DOC_NR: C8 ##14#16#
    EVENT: <CONTEST-C8-1>
<CONTEST-C8-1> :=
    NAME: "rye bread" ##69#78#
    WINNER: "Nurgul" ##33#39#
    LOSER: "Anna Berg" ##45#54#
    PLACE: "Osh" ##58#61#
    SCORE: "5-2" ##80#83#
<TEMPLATE-C9-1> :=
    DOC_NR: C9 ##14#16#
    EVENT: <CONTEST-C9-1>
<CONTEST-C9-1> :=
    NAME: "white loaf" ##72#82#
    WINNER: "Ines Costa" ##33#43#
    LOSER: "Åsa Ek" ##49#55#
    PLACE: "Malmö" ##59#64#
    SCORE: "6-0" ##84#87#
<TEMPLATE-C10-1> :=
    DOC_NR: C10 ##14#17#
    EVENT: <CONTEST-C10-1>
<CONTEST-C10-1> :=
    NAME: "flat bread" ##76#86#
    WINNER: "Anna Berg" ##34#43#
    LOSER: "Daniel Omar" ##49#60#
    PLACE: "Graz" ##64#68#
    SCORE: "7-1" ##88#91#
<TEMPLATE-C11-1> :=
    DOC_NR: C11 ##14#17#
    EVENT: <CONTEST-C11-1>
<CONTEST-C11-1> :=
    NAME: "corn bread" ##69#79#
    WINNER: "Åsa Ek" ##34#40#
    LOSER: "Nurgul" ##46#52#
    PLACE: "Porto" ##56#61#
    SCORE: "8-2" ##81#84#
<TEMPLATE-C12-1> :=
    DOC_NR: C12 ##14#17#
    EVENT: <CONTEST-C12-1>
<CONTEST-C12-1> :=
    NAME: "rye bread" ##78#87#
    WINNER: "Daniel Omar" ##34#45#
    LOSER: "Ines Costa" ##51#61#
    PLACE: "Cairo" ##65#70#
    SCORE: "5-0" ##89#92#
