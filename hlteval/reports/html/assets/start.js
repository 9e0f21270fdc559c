"use strict";
Report.start();
